import type { ConsoleStage } from './stage.ts';

/** The slots in the database of a stage. Times are of the console's time zone. */
export class StoredSlots {
  readonly #sql: ConsoleStage['slot']['database']['sql'];

  constructor({ slot }: ConsoleStage) {
    this.#sql = slot.database.sql;
  }

  /** Removes all. The next one that is created gets the id 1001. */
  async clear(): Promise<void> {
    const clear = () =>
      this.#sql(
        `truncate slots cascade; truncate product_slots; truncate slot_bookings cascade; select setval('slots_id_seq', 1000)`,
      );
    // A read of the service, such as of its first stores, may lock the tables in another order.
    await clear().catch((error: Error) => (error.message === 'deadlock detected' ? clear() : Promise.reject(error)));
  }

  /** Adds a slot whose orders close four hours before. */
  async add(id: number, delivery: string, { isActive = true, isFull = false } = {}): Promise<void> {
    await this.#sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, is_active, is_capacity_full)
       select $1, at, at - interval '4 hours', '{2}', $3, $4 from (select $2::timestamp at time zone 'Asia/Kolkata' as at) as given`,
      [id, delivery, isActive, isFull],
    );
  }

  /** Adds a week of 12 slots on five days. */
  async addWeek(): Promise<void> {
    for (let id = 1; id <= 12; id += 1)
      await this.add(id, `2090-05-0${1 + (id % 5)} ${10 + 2 * Math.floor(id / 5)}:00`);
  }

  list() {
    return this.#sql<{ id: number; delivery: string; freeze: string; is_active: boolean; is_capacity_full: boolean }>(
      `select id, to_char(delivery_time at time zone 'Asia/Kolkata', 'MM-DD HH24:MI') as delivery,
         to_char(freeze_time at time zone 'Asia/Kolkata', 'MM-DD HH24:MI') as freeze, is_active, is_capacity_full
       from slots order by id`,
    );
  }

  /** The delivery times of the active slots that staff have made beside those of `addWeek`. */
  async planned(): Promise<string[]> {
    const made = (await this.list()).slice(12).filter((slot) => slot.is_active);
    return made.map(({ delivery }) => delivery).toSorted();
  }
}
