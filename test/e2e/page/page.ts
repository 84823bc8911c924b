import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ListedSlot } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { type Clients, createClients, protocols } from './clients.ts';
import { find, onClick, onSubmit, show } from './screen.ts';

const address = new URLSearchParams(location.search);
const slotUrl = address.get('slots') ?? 'http://localhost:8051';
const couponUrl = address.get('coupons') ?? 'http://localhost:8052';

let clients: Clients | undefined;
let watching = new AbortController();

find('select[name=protocol]', HTMLSelectElement).append(...[...protocols.keys()].map((name) => new Option(name)));

function loggedIn(): Clients {
  if (clients === undefined) throw new Error('Log in first');
  return clients;
}

onSubmit('#log-in', async (field) => {
  clients = createClients({ protocol: field('protocol'), token: field('token'), slotUrl, couponUrl });
  await listSlots();
  return 'Logged in';
});

onClick(find('#list-slots', HTMLButtonElement), listSlots);

async function listSlots(): Promise<string> {
  const { slots, count } = await loggedIn().slots.getAll({});
  show('Slots', slots.map(describeSlot));
  return `${count} slots`;
}

function describeSlot({ id, deliveryTime, isCapacityFull, products }: ListedSlot): (string | Node)[] {
  const time = deliveryTime === undefined ? '' : timestampDate(deliveryTime).toISOString();
  const text = [`Slot ${id}`, time, ...products.map(({ name }) => name)].join(', ');
  if (isCapacityFull) return [`${text}, full`];
  const button = document.createElement('button');
  button.append('Mark full');
  onClick(button, async () => {
    const { message } = await loggedIn().slots.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    await listSlots();
    return message;
  });
  return [`${text} `, button];
}

onSubmit('#new-slot', async (field) => {
  const lines = field('snippets').split('\n');
  const { createdSnippets, message } = await loggedIn().slots.createSlot({
    deliveryTime: field('deliveryTime'),
    freezeTime: field('freezeTime'),
    productIds: readIds(field('productIds')),
    vendorSnippets: lines.filter((line) => line !== '').map(readSnippet),
  });
  await listSlots();
  return [message, ...createdSnippets.map(({ snippetCode }) => snippetCode)].join(', ');
});

/** Such as "morning-run: 1, 2". */
function readSnippet(line: string): { name: string; productIds: number[] } {
  const [name = '', ids = ''] = line.split(':');
  return { name, productIds: readIds(ids) };
}

function readIds(text: string): number[] {
  return text
    .split(',')
    .filter((id) => id.trim() !== '')
    .map(Number);
}

onSubmit('#new-coupon', async (field) => {
  const discountPercent = Number(field('discountPercent'));
  const { coupon } = await loggedIn().coupons.create({
    coupon: { couponCode: field('couponCode'), discountPercent, isApplyForAll: true },
  });
  return `Coupon ${coupon?.couponCode} created`;
});

onSubmit('#discount', async (field) => {
  const orderAmount = Number(field('orderAmount'));
  const answer = await loggedIn().coupons.validate({ code: field('code'), orderAmount });
  return answer.valid ? `Discount ${answer.discountAmount}` : (answer.message ?? '');
});

onClick(find('#read-stores', HTMLButtonElement), async () => {
  const { slots, version } = await loggedIn().stores.getOpenSlots({}, { timeoutMs: 10_000 });
  show(
    'Open slots',
    slots.map(({ id, productIds }) => [`Slot ${id}, products ${productIds.join(', ')}`]),
  );
  return `Version ${version}`;
});

onClick(find('#watch', HTMLButtonElement), async () => {
  // A stream holds one of the six connections that a browser has to a server of HTTP/1.1.
  watching.abort();
  watching = new AbortController();
  const { signal } = watching;
  const versions: string[][] = [];
  try {
    for await (const { version } of loggedIn().stores.watchStore({}, { signal })) {
      versions.push([String(version)]);
      show('Versions', versions);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return 'Watching ended';
});

find('#stop', HTMLButtonElement).addEventListener('click', () => watching.abort());
