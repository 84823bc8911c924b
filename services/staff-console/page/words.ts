/** Counts records, such as "1 coupon" or "1,000 batches". */
export function counted(count: number, plural: string): string {
  const one = plural.replace(/ies$/, 'y').replace(/(ch)es$|s$/, '$1');
  return `${count.toLocaleString('en')} ${count === 1 ? one : plural}`;
}

/** What the console says, in the order of its pages. */
export const words = {
  save: 'Save',
  saving: 'Saving…',
  cancel: 'Cancel',
  close: 'Close',
  clear: 'Clear',
  more: 'More actions',

  frame: {
    product: 'Delivery administration',
    skip: 'Skip to the content',
    menu: 'Menu',
    fold: 'Fold the menu',
    unfold: 'Unfold the menu',
    overview: 'Overview',
    slots: 'Slots',
    coupons: 'Coupons',
    customers: 'Customers',
    storefront: 'Storefront',
    activity: 'Activity',
    search: 'Search',
    help: 'Help with the keys',
    keys: 'Keys',
    theme: (words: string) => `Theme: ${words}`,
    signOut: 'Sign out',
    otherZone: (place: string) => `This computer: ${place}`,
  },

  keys: [
    ['Ctrl K or /', 'Search for everything, also the actions of this page'],
    ['?', 'These keys'],
    ['Arrows', 'In the calendar: go from slot to slot and to free hours'],
    ['Space', 'In the calendar: select a slot'],
    ['Shift arrow', 'In the calendar: select on the way'],
    ['Alt arrow', 'In the calendar: move what is selected by a day or an hour'],
    ['Enter', 'In the calendar: open a slot, or make one at a free hour'],
    ['Escape', 'In the calendar: clear the selection'],
  ],

  forms: {
    summary: 'Summary',
    isThisRight: 'Is this right?',
    anyway: (action: string) => `${action} anyway`,
    change: 'Change it',
    leave: 'Leave without saving?',
    notSaved: 'What you entered here has not been saved.',
    stay: 'Stay here',
    leaveNow: 'Leave',
  },

  lists: {
    total: (count: number, what: string) => (count > 10_000 ? `10,000+ ${what}` : counted(count, what)),
    looked: (count: string) => `${count} looked through…`,
    stop: 'Stop',
    exportCsv: 'Export CSV',
    reading: (progress: string) => `Reading: ${progress}`,
    rows: (count: string) => `${count} rows`,
    loading: 'Loading…',
    showMore: 'Show more',
    clearFilters: 'Clear the filters',
    select: (row: string) => `Select ${row}`,
    selectAll: 'Select all',
    selected: (count: number) => `${count.toLocaleString('en')} selected`,
    forSelected: 'Actions for the selection',
    saved: 'Saved filters',
    noneSaved: 'Save the filters of this list under a name to find them here.',
    saveFilters: 'Save these filters…',
    filtersName: 'Name',
    deleteFilters: (name: string) => `Delete “${name}”`,
  },

  overview: {},

  /** The calendar, the list of slots, and what is done with several. */
  slots: {},

  /** A slot's page, its form, its bookings, its sequence and its run sheet. */
  slot: {},

  /** The lists of coupons, reserved coupons and batches. */
  coupons: {},

  /** A coupon's page, its form, and what is issued for an order or a number. */
  coupon: {},

  check: {},

  customers: {},

  /** Orders, with their redemptions and bookings. */
  orders: {},

  storefront: {},

  activity: {},

  search: {},
} as const;
