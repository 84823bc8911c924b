// Places are the slots and the free hours of the calendar, in the order of the day. Keys move between them.

const place = '[data-place]';

/** Returns the place of an element in the calendar, such as of a button in a slot's card. */
export function placeOf(element: Element): HTMLElement | null {
  return element.closest('.slot-card')?.querySelector<HTMLElement>(place) ?? element.closest<HTMLElement>(place);
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
