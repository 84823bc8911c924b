import { invalidField } from '../../../shared/errors/errors.ts';
import type { ImportedOrder, ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type Importing, importAll, importStatement } from '../imports/import.ts';
import type { ImportParts } from '../parts.ts';

/** Design 14, ImportOrders. Throws as `importAll` does: INVALID_ARGUMENT for an unknown user. */
export function importOrders(parts: ImportParts): Handler<typeof ImportService.method.importOrders> {
  return ({ orders }, call) => importAll(orderImport, parts, orders, call);
}

const hasStatus = (order: string) => `exists (select from order_statuses where order_id = ${order}.id)`;

// An order that is written has a status row afterwards.
const fields = (order: string) =>
  `'externalId', ${order}.external_id, 'userId', ${order}.user_id, 'totalAmount', ${order}.total_amount::text,
   'orderStatus', case when ${order === 'seen' ? hasStatus('seen') : 'true'} then json_build_object('orderId', ${order}.id) end`;

export const orderImport: Importing<ImportedOrder> = {
  list: 'orders',
  toGiven: ({ externalId, userExternalId, totalAmount }) => ({
    external_id: externalId,
    user_external_id: userExternalId || null,
    total_amount: totalAmount,
  }),
  write: importStatement('importOrders', {
    table: 'orders',
    type: 'order',
    given: 'external_id text, user_external_id text, total_amount numeric',
    columns: ['external_id', 'user_id', 'total_amount'],
    // Orders lock the users that they come to name, as the foreign key would, but in the order in which ImportUsers does.
    wanted: `
       with asked as materialized (
         select given.external_id, users.id as user_id, given.total_amount, place, orders.id,
           given.user_external_id is not null and users.id is null as is_refused,
           orders.user_id is distinct from users.id as names_anew
         from given
           left join orders on orders.external_id = given.external_id
           left join users on users.external_id = given.user_external_id
       ),
       buyers as materialized (
         select id from users where id in (select user_id from asked where names_anew) order by id for key share
       )
       select asked.* from asked left join buyers on buyers.id = user_id`,
    fields,
    alsoDiffers: `not ${hasStatus('seen')}`,
    also: [
      `statuses as (
       insert into order_statuses (order_id)
       select id from created union all select id from changed where not ${hasStatus('changed')}
     )`,
    ],
  }),
  refusal: (prefix) => invalidField(`${prefix}user_external_id`, 'there is no such user'),
};
