// Fetched together, when the first of them is needed.
export { ChosenBar } from './chosen-bar.tsx';
export { CopyDialog } from './copy-dialog.tsx';
export { MoveDialog } from './move-dialog.tsx';
