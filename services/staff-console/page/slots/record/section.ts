import type { SlotDetail } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';

/** Whether a section of a slot's page is being edited: one at a time, because each change gives the slot a new etag. */
export interface SectionEdit {
  readonly isOpen: boolean;
  /** Another section is being edited. */
  readonly isBlocked: boolean;
  open(): void;
  close(): void;
}

/** What each section of a slot's page is given. */
export interface SlotSectionProps {
  readonly slot: SlotDetail;
  readonly edit: SectionEdit;
  /** Reads the slot as it is now. */
  read(): Promise<SlotDetail | undefined>;
}
