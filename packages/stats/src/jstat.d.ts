declare module 'jstat' {
  const jstat: {
    jStat: {
      ibeta(x: number, a: number, b: number): number;
      betacf(x: number, a: number, b: number): number;
      gammaln(x: number): number;
      studentt: { inv(p: number, df: number): number };
      normal: { inv(p: number, mean: number, sd: number): number; cdf(x: number, mean: number, sd: number): number };
    };
  };
  export default jstat;
}
