// Places are the slots and the free hours of the calendar, in the order of the day. Keys move between them.

const place = '[data-place]';

/** Returns the place of an element in the calendar, such as of a button in a slot's card. */
export function placeOf(target: EventTarget): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  return target.closest('.slot-card')?.querySelector<HTMLElement>(place) ?? target.closest<HTMLElement>(place);
}

/** Returns the slot at a place; 0 for a free hour. */
export const slotIdOf = (at: HTMLElement | null | undefined) => Number(at?.dataset.place ?? 0);

/** An hour of a day, such as 10 on 2026-11-23. */
export interface Cell {
  readonly day: string;
  readonly hour: number;
}

/** Returns the cell of the calendar that an element is in; undefined beside the cells. */
export function cellOf(target: EventTarget): Cell | undefined {
  if (!(target instanceof Element)) return undefined;
  const { day } = target.closest<HTMLElement>('[data-day]')?.dataset ?? {};
  const { hour } = target.closest<HTMLElement>('[data-hour]')?.dataset ?? {};
  return day === undefined || hour === undefined ? undefined : { day, hour: Number(hour) };
}

/** Returns the place beside another one, at the same hour of the day before or after, or before or after it on its day. */
export function placeBeside(from: HTMLElement, key: string): HTMLElement | null {
  const day = from.closest('.day');
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    const places = [...(day?.querySelectorAll<HTMLElement>(place) ?? [])];
    return places[places.indexOf(from) + (key === 'ArrowDown' ? 1 : -1)] ?? null;
  }
  const other = key === 'ArrowRight' ? day?.nextElementSibling : day?.previousElementSibling;
  const hour = from.closest<HTMLElement>('.hour')?.dataset.hour;
  return other?.querySelector<HTMLElement>(`[data-hour="${hour}"] ${place}`) ?? null;
}
