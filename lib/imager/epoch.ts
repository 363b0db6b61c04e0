/** The one time stamp of everything that is built: output depends on inputs, never on the clock. */

/** Seconds since 1970 (reproducible-builds.org, SOURCE_DATE_EPOCH): 2019-06-01 21:34:52 UTC. */
export const SOURCE_DATE_EPOCH = 1559424892;

/** The same moment as xorriso writes dates: YYYYMMDDhhmmss and hundredths. */
export const ISO_DATE = "2019060121345200";

/** For tools that read the variable themselves: mtools, squashfs tools, mkfs. */
export const EPOCH_ENVIRONMENT = { SOURCE_DATE_EPOCH: String(SOURCE_DATE_EPOCH) };
