/** What makes a sandbox tighter where it can be had, and how bubblewrap says that it cannot: inside containers, /proc is partly hidden and read-only. */
import { AppError } from "../errors/app-error.ts";

const REFUSALS = {
  /** A /proc of its own. */
  proc: /^bwrap: Can't mount proc/m,
  /** That it can make no further user namespaces. */
  noNesting: /^bwrap: cannot open \/proc\/sys\/user\/max_user_namespaces/m,
} as const;
export type SandboxFeature = keyof typeof REFUSALS;

const isFeature = (name: string): name is SandboxFeature => Object.hasOwn(REFUSALS, name);
/** What this process goes without, once it was refused. */
const refused = new Set<SandboxFeature>();

/** False once this machine has refused the feature. */
export const hasFeature = (feature: SandboxFeature): boolean => !refused.has(feature);

/** Runs the work, which makes a sandbox, and again with one feature less whenever bubblewrap is refused one. */
export async function withSandboxFeatures<T>(work: () => Promise<T>): Promise<T> {
  const wanted = Object.keys(REFUSALS).filter(isFeature).filter(hasFeature);
  try {
    return await work();
  } catch (error) {
    const tail = error instanceof AppError ? String(error.extra.details?.tail ?? "") : "";
    const missing = wanted.find((feature) => REFUSALS[feature].test(tail));
    if (missing === undefined) throw error;
    // The program was not started: the sandbox is made before.
    refused.add(missing);
    return withSandboxFeatures(work);
  }
}
