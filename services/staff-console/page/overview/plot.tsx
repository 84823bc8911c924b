import { useCallback } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { OverviewDay } from '#gen/coupon/v1/redemption_service_pb';

interface PlotProps {
  readonly days: readonly OverviewDay[];
  /** Takes the place of the day that is pointed at; undefined for none. */
  onPoint(place: number | undefined): void;
}

const height = 190;

/** Draws the uses of each day as columns, and the discounts as a line, in the colours of the theme. */
export function Plot({ days, onPoint }: PlotProps) {
  const draw = useCallback(
    (box: HTMLDivElement) => {
      const [uses, given] = [days.map((day) => day.uses), days.map((day) => Number(day.discountGiven))];
      const hooks = { setCursor: [({ cursor }: uPlot) => onPoint(cursor.idx ?? undefined)] };
      const options = { ...optionsOf(days), hooks, width: box.clientWidth };
      const plot = new uPlot(options, [[...days.keys()], uses, given], box);
      const resizes = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
      resizes.observe(box);
      const themes = new MutationObserver(() => plot.redraw());
      themes.observe(document.documentElement, { attributeFilter: ['class'] });
      return () => {
        resizes.disconnect();
        themes.disconnect();
        plot.destroy();
      };
    },
    [days, onPoint],
  );
  return <div ref={draw} />;
}

const color = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name);
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const dayOfMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
// Of whole uses.
const incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5];
const fromZero: uPlot.Range.Function = (_plot, _min, max) => [0, Math.max(4, (max ?? 0) * 1.1)];

function optionsOf(days: readonly OverviewDay[]): Omit<uPlot.Options, 'width'> {
  const last = days.length - 1;
  const paths = uPlot.paths.bars?.({ size: [0.62, 28], radius: 0.15 });
  const points = { show: false };
  const axis = {
    stroke: color('--muted'),
    font: '12px "Inter Variable", sans-serif',
    ticks: { show: false },
    grid: { show: false },
    values: (_plot: uPlot, values: readonly number[]) => values.map((value) => compact.format(value)),
  };
  return {
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { time: false, range: () => [-0.6, last + 0.6] },
      uses: { range: fromZero },
      given: { range: fromZero },
    },
    series: [
      {},
      { scale: 'uses', fill: color('--indigo-6'), width: 0, points, ...(paths && { paths }) },
      { scale: 'given', stroke: color('--indigo-11'), width: 2, points },
    ],
    axes: [
      {
        ...axis,
        size: 28,
        // A week apart, today among them.
        splits: (plot) => days.flatMap((_, at) => ((last - at) % (plot.width < 480 ? 14 : 7) === 0 ? at : [])),
        values: (_plot, places) => places.map((at) => dayOfMonth.format(new Date(days[at]?.date ?? 0))),
      },
      { ...axis, scale: 'uses', size: 40, incrs, grid: { stroke: color('--line'), width: 1 } },
      { ...axis, scale: 'given', side: 1, size: 48 },
    ],
  };
}
