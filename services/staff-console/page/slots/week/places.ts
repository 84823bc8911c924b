import { type FocusEvent, useLayoutEffect, useRef } from 'react';

// Places are the slots and the free hours of the calendar, in the order of the day. Keys move between them.

const place = '[data-place]';

/** Returns the place of an element in the calendar, such as of a box in a slot's card. */
export function placeOf(target: EventTarget): HTMLElement | null {
  if (!(target instanceof Element)) return null;
  return target.closest('.slot-card')?.querySelector<HTMLElement>(place) ?? target.closest<HTMLElement>(place);
}

/** Returns the slot at a place; 0 for a free hour. */
export const slotIdOf = (at: HTMLElement | null) => Number(at?.dataset.place ?? 0);

/** Returns the place of a slot. */
export const placeOfSlot = (id: number | string) => find(`[data-place="${id}"]`);

const find = (selector: string) => document.querySelector<HTMLElement>(selector);

/** Returns the hour of the calendar below the pointer, such as 2026-11-23T09:00, whatever slot lies over it. */
export function hourBelow({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): string | undefined {
  const hour = document.elementsFromPoint(clientX, clientY).find((element) => element.matches('[data-hour]'));
  return hour?.getAttribute('data-at') ?? undefined;
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

/**
 * Returns handlers for the element around what may leave the page while it has the focus. The keyboard then goes on with
 * the slot where it stands now, or else with what is done with the selection, or at the heading.
 */
export function useKeptFocus() {
  const last = useRef<Element>(undefined);
  // Before the next key.
  useLayoutEffect(() => {
    const left = last.current;
    if (left === undefined || left.isConnected || document.activeElement !== document.body) return;
    const id = left.getAttribute('data-place') || left.closest<HTMLElement>('[data-panel]')?.dataset.panel;
    (placeOfSlot(id ?? 'none') ?? find('.selection-bar') ?? find('h1'))?.focus();
  });
  return {
    onFocus: ({ target }: FocusEvent) => {
      last.current = target;
    },
    // An element that leaves the page may lose the focus before; one that stays is left by staff.
    onBlur: ({ target }: FocusEvent) => {
      setTimeout(() => {
        if (target.isConnected && last.current === target) last.current = undefined;
      });
    },
  };
}
