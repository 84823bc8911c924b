import { createContext, type ReactNode, use, useId } from 'react';
import type { SlotDetail } from '#gen/slot/v1/slot_service_pb';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';

/** What the sections of a slot's page get, and their forms. */
export interface SlotSectionProps {
  readonly slot: SlotDetail;
  /** Reads the slot as it is now. */
  read(): Promise<SlotDetail | undefined>;
  /** Closes the form. */
  onClose(): void;
}

/** The section of a page that is edited; empty for none. Only one is at a time: each change replaces the etag. */
export const EditedContext = createContext({ edited: '', edit: (_section: string) => {} });

interface EditSectionProps {
  readonly title: string;
  /** The text of the button that begins an edit. */
  readonly action?: string;
  /** Its accessible name, where the text does not say what is edited. */
  readonly label?: string;
  /** Takes the place of the children; undefined until there is something to edit. */
  readonly form: ReactNode;
  readonly children: ReactNode;
}

/** A section of a slot's page with a button that begins its edit. */
export function EditSection({
  title,
  action = words.slot.edit.short,
  label = action,
  form,
  children,
}: EditSectionProps) {
  const section = useId();
  const { edited, edit } = use(EditedContext);
  const isEdited = edited === section;
  const button = !isEdited && form !== undefined && (
    <Button onPress={() => edit(section)} isDisabled={edited !== ''} aria-label={label}>
      {action}
    </Button>
  );
  return (
    <Section isEditing={isEdited} title={title} actions={button}>
      {isEdited ? form : children}
    </Section>
  );
}
