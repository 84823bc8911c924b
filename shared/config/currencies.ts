// The currencies of ISO 4217 whose amounts have not two digits after the point. The data of a runtime would not do: it
// tells how amounts are shown, HUF without digits, and changes with the runtime.
const codesByDigits = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** Returns how many digits amounts of a currency have after the point; undefined without a currency. */
export function digitsOfCurrency(currency: string | undefined): number | undefined {
  if (currency === undefined) return undefined;
  const [digits = 2] = Object.entries(codesByDigits).find(([, codes]) => codes.split(' ').includes(currency)) ?? [];
  return Number(digits);
}
