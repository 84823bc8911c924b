import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { createContext, type ReactNode, use, useId } from 'react';
import { useGuardedEdit } from '../../rpc/guarded-edit.ts';
import type { Write } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';

/** What a section of a record's page gets, and its form. */
export interface SectionProps<R> {
  readonly record: R;
  read(): Promise<R | undefined>;
  onClose(): void;
}

/** The section of a page that is edited; empty for none. Only one is at a time: each change replaces the etag. */
export const EditedContext = createContext({ edited: '', edit: (_section: string) => {} });

interface EditSectionProps {
  readonly title: string;
  readonly action?: string;
  /** Its accessible name, where the text does not say what is edited. */
  readonly label?: string;
  /** Takes the place of the children; undefined until there is something to edit. */
  readonly form: ReactNode;
  readonly children: ReactNode;
}

/** A section of a slot's page with a button that begins its edit. */
export function EditSection({ title, action = words.edit, label, form, children }: EditSectionProps) {
  const section = useId();
  const { edited, edit } = use(EditedContext);
  const isEdited = edited === section;
  const button = !isEdited && form !== undefined && (
    <Button onPress={() => edit(section)} isDisabled={edited !== ''} aria-label={label ?? action}>
      {action}
    </Button>
  );
  return (
    <Section isEditing={isEdited} title={title} actions={button}>
      {isEdited ? form : children}
    </Section>
  );
}

/** Guards the edit of a section's form as `useGuardedEdit` does. `form` has what an `EditForm` needs of it. */
export function useSectionEdit<R, D extends object, I extends DescMessage, O extends DescMessage>(
  { record, read, onClose }: SectionProps<R>,
  write: Write<I, O>,
  draftOf: (record: R) => D,
  request: (draft: D, replaced: R) => MessageInitShape<I>,
) {
  const edit = useGuardedEdit({ write, record, read, draftOf, request, onSaved: onClose });
  return { ...edit, form: { write, isDirty: edit.isDirty, onSend: () => edit.save(), onCancel: onClose } };
}
