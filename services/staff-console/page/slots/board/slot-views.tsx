import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { NavLink, useNavigate } from 'react-router';
import { TextField } from '../../forms/text-field.tsx';
import { Button } from '../../ui/button.tsx';

/** The bar above the slots: links to the board and the list, the view's own controls, and a field for a slot number. */
export function SlotViews({ children }: { readonly children: ReactNode }): ReactNode {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  return (
    <div className="bar">
      <nav aria-label="Views of the slots" className="tabs">
        <NavLink to="/slots" end>
          Board
        </NavLink>
        <NavLink to="/slots/list">List</NavLink>
      </nav>
      {children}
      <Form
        className="go-to"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate(`/slots/${id}`);
        }}
      >
        <TextField label="Slot number" inputMode="numeric" pattern="[0-9]+" isRequired value={id} onChange={setId} />
        <Button type="submit">Open</Button>
      </Form>
    </div>
  );
}
