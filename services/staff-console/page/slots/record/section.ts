import type { SlotDetail } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';

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
