import Big from 'big.js';

/** The two currencies of an order. */
export interface Pair {
  readonly fromCurrency: string;
  readonly toCurrency: string;
}

const FIAT = ['EUR', 'USD', 'GBP', 'CHF', 'PLN', 'CZK'];
/** What one unit is worth in EUR. They are invented; any other currency is worth as much as EUR. */
const WORTH = new Map(
  Object.entries({
    BTC: '61234.56',
    ETH: '2345.678',
    USDT: '0.92',
    USD: '0.92',
    GBP: '1.17',
  }),
);
const RATIO_DIGITS = 8;
/** A share of the crypto amount. */
const FEE = '0.001';
/** Of the input amount, in percent. */
export const REWARD_PERCENT = '0.5';

/** SELL gives crypto for money, BUY money for crypto. */
export function exchangeTypeOf({ fromCurrency, toCurrency }: Pair): 'BUY' | 'SELL' {
  return FIAT.includes(fromCurrency) && !FIAT.includes(toCurrency) ? 'BUY' : 'SELL';
}

/** Calculates the amounts of an order to the last digit; decimal texts. */
export function termsOf(pair: Pair, asset: string) {
  const worth = (currency: string) => new Big(WORTH.get(currency) ?? 1);
  const ratio = worth(pair.fromCurrency).div(worth(pair.toCurrency)).round(RATIO_DIGITS);
  const output = new Big(asset).times(ratio);
  const crypto = exchangeTypeOf(pair) === 'BUY' ? output : new Big(asset);
  return {
    ratio: ratio.toFixed(),
    output: output.toFixed(),
    crypto: crypto.toFixed(),
    fee: crypto.times(FEE).toFixed(),
    reward: new Big(asset).times(REWARD_PERCENT).div(100).toFixed(),
  };
}
