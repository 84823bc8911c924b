// Places are the slots and the free hours of the calendar, in the order of the day. Keys move between them.

const place = '[data-place]';

/** Returns the place of an element in the calendar, such as of a box in a slot's card. */
export function placeOf(target: EventTarget): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  return target.closest('.slot-card')?.querySelector<HTMLElement>(place) ?? target.closest<HTMLElement>(place);
}

/** Returns the slot at a place; 0 for a free hour. */
export const slotIdOf = (at: HTMLElement | null | undefined) => Number(at?.dataset.place ?? 0);

/** Returns the place of a slot. */
export const placeOfSlot = (id: number | string) => document.querySelector<HTMLElement>(`[data-place="${id}"]`);

/** An hour of a day, such as 10 on 2026-11-23. */
export interface Cell {
  readonly day: string;
  readonly hour: number;
}

/** Returns the cell of the calendar below the pointer, whatever slot lies over it; undefined beside the cells. */
export function cellBelow({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): Cell | undefined {
  const cell = document.elementsFromPoint(clientX, clientY).find((element) => element.matches('[data-hour]'));
  const { hour } = cell instanceof HTMLElement ? cell.dataset : {};
  const { day } = cell?.closest<HTMLElement>('[data-day]')?.dataset ?? {};
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
