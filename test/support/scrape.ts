/** What the metrics port answered once. */
export interface Scrape {
  readonly text: string;
  /** The value of a series, such as `jobs{job="store-refresh",state="active"}`; undefined when it is not there. */
  value(series: string): number | undefined;
}

export async function scrape(port: number | undefined): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (response.status !== 200) throw new Error(`the metrics port answered ${response.status}`);
  const text = await response.text();
  return {
    text,
    value(series) {
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
  };
}
