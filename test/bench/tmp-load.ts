import { migrate } from '../../shared/db/migrate.ts';
import { loadProducts } from './data-products.ts';
import { loadSlots } from './data-slots.ts';

const [url = '', slots, products] = process.argv.slice(2);
await migrate(url);
if (Number(products)) await loadProducts(url, Number(products));
await loadSlots(url, Number(slots));
