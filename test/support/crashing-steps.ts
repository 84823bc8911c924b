/** The steps of a program that crashes before one of them, or before it learns of its end. */
export function crashingSteps() {
  let halfStepsLeft = Number.POSITIVE_INFINITY;
  const takeHalf = (where: string) => {
    halfStepsLeft -= 1;
    if (halfStepsLeft < 0) throw new Error(`crashed ${where} a step`);
  };
  return {
    /** The next run crashes after so many half steps. */
    crashAfter(halfSteps: number): void {
      halfStepsLeft = halfSteps;
    },
    async step<Result>(work: () => Promise<Result>): Promise<Result> {
      takeHalf('before');
      return work().finally(() => takeHalf('after'));
    },
  };
}
