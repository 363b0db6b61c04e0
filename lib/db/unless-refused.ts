/** What the database refuses and what is an answer nevertheless: a value taken by another row, a row that is gone. */
import { Prisma } from "./generated/client.ts";

/** Prisma's codes for constraints that do not hold. */
const UNIQUE = "P2002";
const FOREIGN_KEY = "P2003";

/** False when another row has a value that must be unique; then nothing was written. */
export const unlessTaken = (work: () => Promise<unknown>): Promise<boolean> => unless(UNIQUE, work);

/** False when a row that is named is not there (any more); then nothing was written. */
export const unlessGone = (work: () => Promise<unknown>): Promise<boolean> => unless(FOREIGN_KEY, work);

async function unless(code: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === code) return false;
    throw error;
  }
}
