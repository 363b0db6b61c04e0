/** Values that must be unique: that another row has one already is an answer, not a failure. */
import { Prisma } from "./generated/client.ts";

/** Prisma's code for a unique constraint that does not hold. */
const TAKEN = "P2002";

/** False when another row has a value that must be unique; then nothing was written. */
export async function unlessTaken(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === TAKEN) return false;
    throw error;
  }
}
