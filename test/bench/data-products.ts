import { withClient } from './client.ts';
import { withoutIndexes } from './data-indexes.ts';
import { pick, surnames } from './data-load.ts';

const kinds = `array['Basmati Rice','Toor Dal','Mango','Tomato','Green Capsicum','Paneer','Farm Eggs','Sunflower Oil','Turmeric Powder',
  'Garam Masala','Filter Coffee','Coconut Water','Banana Chips','Laundry Powder','Neem Soap','Cumin Seeds','Spinach','Papaya',
  'Whole Wheat Atta','Salted Butter']`;
/**
 * Fills the table of products up to so many, of which 20, spread over the ids, have a rare name.
 *
 * @returns how many products were added.
 */
export async function loadProducts(databaseUrl: string, count: number): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('select setseed(0.43)');
    let added = 0;
    await withoutIndexes(client, `amname = 'gin' and indrelid = 'products'::regclass`, async () => {
      const { rowCount } = await client.query(
        `insert into products (name, images)
       select case when n % greatest(1, $1::integer / 20) = 0 then 'Qxz ' || n
           else ${pick(kinds)} || ' ' || ${pick(surnames)} || ' ' || (n * 7919) % 1000 || ' g' end,
         array['https://images.example/' || n || '-1.jpg', 'https://images.example/' || n || '-2.jpg']
       from (select count(*) as present from products) as counted, generate_series(present + 1, $1::integer) n`,
        [count],
      );
      added = rowCount ?? 0;
    });
    await client.query('commit');
    await client.query('vacuum analyze products');
    return added;
  });
}
