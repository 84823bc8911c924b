import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/listen.ts';
import { createCouponReads } from './bare-coupons.ts';
import { type ListedSlotRow, listedSlotsSql, type Product } from './bare-slots.ts';
import { readOf } from './bare-sql.ts';

// The baseline of the JSON calls: node:http, JSON.parse, one plain statement a call, JSON.stringify.

const { validate } = createCouponReads();
const listed = readOf<ListedSlotRow & { products: Product[] | null }>('getAll', listedSlotsSql);

/** The fields of a row have the names of the answer's; a Date becomes ISO text. */
async function getAll() {
  const rows = await listed();
  const known = new Map(rows[0]?.products?.map((product) => [product.id, product]));
  const slots = rows.map(({ productIds, ...row }) => ({
    ...row,
    products: productIds.flatMap((id) => known.get(id) ?? []),
    productSlots: productIds.map((productId) => ({ slotId: row.id, productId, product: known.get(productId) })),
  }));
  return { slots, count: rows.length };
}

const procedures: Record<string, (body: string) => Promise<unknown>> = {
  '/coupon.v1.CouponService/Validate': (body) => validate(JSON.parse(body)),
  '/slot.v1.SlotService/GetAll': getAll,
};

const server = createServer((request, response) => {
  text(request)
    .then((body) => procedures[request.url ?? '']?.(body))
    .then(
      (answer) => {
        const json = JSON.stringify(answer);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
        response.end(json);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
});
console.log(JSON.stringify({ msg: 'serving', webPort: await listen(server) }));
