import type { ReactNode } from 'react';
import type { SlotDetail } from '#gen/slot/v1/slot_service_pb';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';

/** The edit state of a section of a slot's page. Only one is edited at a time: each change replaces the etag. */
export interface SectionEdit {
  readonly isOpen: boolean;
  /** Whether another section is being edited. */
  readonly isBlocked: boolean;
  open(): void;
  close(): void;
}

/** The properties of each section of a slot's page. */
export interface SlotSectionProps {
  readonly slot: SlotDetail;
  readonly edit: SectionEdit;
  /** Reads the slot as it is now. */
  read(): Promise<SlotDetail | undefined>;
}

interface EditSectionProps {
  readonly title: string;
  readonly edit: SectionEdit;
  /** The text of the button that begins an edit. */
  readonly action: string;
  /** Its accessible name, where the text does not say what is edited. */
  readonly label?: string;
  /** Whether there is something to edit yet; true unless told. */
  readonly isReady?: boolean;
  readonly children: ReactNode;
}

/** A section of a slot's page with a button that begins its edit. */
export function EditSection(props: EditSectionProps) {
  const { title, edit, action, label = action, isReady = true, children } = props;
  const button = !edit.isOpen && isReady && (
    <Button onPress={edit.open} isDisabled={edit.isBlocked} aria-label={label}>
      {action}
    </Button>
  );
  return (
    <Section isEditing={edit.isOpen} title={title} actions={button}>
      {children}
    </Section>
  );
}
