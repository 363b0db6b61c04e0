/** Timestamps of YAML 1.1 (yaml.org/type/timestamp.html) in the forms that are read, normalized to RFC 3339. */

const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})/;
const TIME = /^([Tt ])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2})?$/;

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** "Z" or an offset; hours up to 24 and minutes up to 60 are taken and carried over. */
function normalZone(zone: string | undefined): string | null {
  if (zone === undefined || zone === "Z") return "Z";
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return null;
  const total = hours * 60 + minutes;
  return total === 0 ? "Z" : `${zone.charAt(0)}${pad(Math.floor(total / 60))}:${pad(total % 60)}`;
}

function normalTime(text: string): string | null {
  const match = TIME.exec(text);
  if (match === null) return null;
  const [, separator, hour, minute, second, fraction = "", written] = match;
  if ((separator === " ") !== (written === undefined)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const zone = normalZone(written);
  if (zone === null) return null;
  const nanoseconds = fraction.slice(0, 9).replace(/0+$/, "");
  const clock = [hour, minute, second].map((part) => pad(Number(part))).join(":");
  return `T${clock}${nanoseconds === "" ? "" : `.${nanoseconds}`}${zone}`;
}

/** RFC 3339 text of a date, or of a date with a time; null for anything else, impossible dates included. */
export function parseTimestamp(text: string): string | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [date, year, month, day] = match;
  const monthNumber = Number(month);
  if (monthNumber < 1 || monthNumber > 12) return null;
  if (Number(day) < 1 || Number(day) > daysInMonth(Number(year), monthNumber)) return null;
  const rest = text.slice(date.length);
  const time = rest === "" ? "T00:00:00Z" : normalTime(rest);
  return time === null ? null : `${year}-${pad(monthNumber)}-${pad(Number(day))}${time}`;
}
