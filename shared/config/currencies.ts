// ISO 4217: codes by how many digits their amounts have after the point. The data of a runtime would not do: it tells how
// amounts are shown, HUF without digits, and changes with the runtime. The last four have been withdrawn, and XDR and XSU
// have no digits in ISO 4217.
const codesByDigits = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
    CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
    INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN
    NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC
    SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG XDR XSU YER ZAR ZMW ZWG
    CUC HRK SLL ZWL`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const digits = new Map(
  Object.entries(codesByDigits).flatMap(([count, codes]) => codes.split(/\s+/).map((code) => [code, Number(count)])),
);

/** Returns how many digits amounts of a currency have after the point; undefined for none, and for an unknown code. */
export const digitsOfCurrency = (currency = ''): number | undefined => digits.get(currency);
