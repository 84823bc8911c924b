import { words } from '../../words.ts';
import './slots.css';

interface CapacityBarProps {
  /** The units of live bookings, held ones among them. */
  readonly booked: number;
  /** How many of these are only held. */
  readonly held?: number;
  /** In units. */
  readonly capacity: number;
}

/** Shows how much of a capacity is booked, as a thin bar with its words for screen readers. */
export function CapacityBar({ booked, held = 0, capacity }: CapacityBarProps) {
  const share = (units: number) => `${Math.min(100, (100 * units) / capacity)}%`;
  return (
    <span
      className={`capacity-bar ${fillOf(booked, capacity)}`}
      role="img"
      aria-label={words.slots.booked(booked, capacity, held)}
    >
      <span style={{ inlineSize: share(booked) }} />
      <span style={{ inlineSize: share(booked - held) }} />
    </span>
  );
}

/** Tells how full a slot is by its bookings. Nearly full: a tenth or less is left. */
export function fillOf(booked: number, capacity: number): 'open' | 'nearly' | 'full' {
  if (booked >= capacity) return 'full';
  return capacity - booked <= capacity / 10 ? 'nearly' : 'open';
}
