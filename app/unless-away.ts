/** What pages show in place of what the source offers while nobody has reached it yet. */
import { isAppError } from "../lib/errors/is-app-error.ts";

/** What is offered, or `nothing` while the source was never reached and no list is kept: the frame of every page says why. */
export async function unlessAway<T>(offered: Promise<T>, nothing: T): Promise<T> {
  try {
    return await offered;
  } catch (error) {
    if (isAppError(error) && error.code === "upstream_unavailable") return nothing;
    throw error;
  }
}
