/** Things that are good to do but that nothing may hang on, such as telling a Redis that may be away. */

const PATIENCE_MS = 2_000;

/** Waits for all, at most two seconds; failures, early and late ones, go to `onError`. Never rejects. */
export async function settleWithin(
  work: Promise<unknown>[],
  onError: (error: unknown) => void,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([Promise.all(work.map((one) => one.catch(onError))), late]);
  clearTimeout(timer);
}
