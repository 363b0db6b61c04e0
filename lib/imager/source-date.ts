/** The one time every image claims to be made at, so that equal plans give equal bytes. */

/** Seconds since 1970: 2 January 2020, 00:00 UTC; late enough for every format's clock, a whole day in every zone. */
export const SOURCE_DATE_SECONDS = 1_577_923_200;
