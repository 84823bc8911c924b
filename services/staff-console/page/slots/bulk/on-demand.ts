// Fetched together, when the first of them is needed.
export { CopyDialog } from './copy-dialog.tsx';
export { MoveDialog } from './move-dialog.tsx';
export { SlotActions } from './slot-actions.tsx';
