/** One JSON line per event on standard output; the values of fields known to hold secrets are left out. */
import { type Logger, pino } from "pino";

export type { Logger } from "pino";

export interface LoggerSettings {
  /** "web", "worker". */
  process: string;
  level: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Coloured lines for eyes instead of JSON; only where pino-pretty is installed. */
  pretty?: boolean;
  /** Where lines go; standard output unless given. */
  destination?: { write(line: string): void };
}

/**
 * Field names whose values are never written, down to three levels below the top. The last group are the places where an
 * embedded machine configuration travels: schematic, recipe, the parameters of a step, and all that holds one of them.
 */
const SECRET_FIELDS = [
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "password",
  "token",
  "access_token",
  "refresh_token",
  "secret",
  "secretAccessKey",
  "privateKey",
  "embeddedMachineConfiguration",
  "embeddedConfig",
  "embedded-config",
  "machineConfiguration",
  "config",
  "schematicText",
  "canonical",
  "parsed",
  "params",
  "plan",
];

const ADDRESS_FIELDS = ["url", "connectionString", "databaseUrl", "redisUrl"];

/** The paths of fields as pino's redaction wants them: field, *.field, *.*.field, *.*.*.field. */
function everywhere(fields: readonly string[]): string[] {
  return fields.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`, `*.*.*["${field}"]`]);
}

/** Many lines at once go out in one write; what waits is written when the process ends, so only SIGKILL loses any. */
const BATCHES = { minLength: 4096, periodicFlush: 100 };

/** Takes user name and password out of an address; other values stay. */
export function withoutCredentials(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i, "$1…@") : value;
}

/** The same log for lines that hold nothing secret, such as one per request: looking for secrets costs more than the line. */
export const withoutRedaction = (log: Logger): Logger => log.child({}, { redact: [] });

/** Creates the logger of a process. Child loggers carry requestId, assetKey and the like: `log.child({ requestId })`. */
export function createLogger(settings: LoggerSettings): Logger {
  const options = {
    level: settings.level,
    base: { process: settings.process, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: everywhere([...SECRET_FIELDS, ...ADDRESS_FIELDS]),
      censor: (value: unknown, path: string[]) =>
        ADDRESS_FIELDS.includes(path.at(-1) ?? "") ? withoutCredentials(value) : "[secret]",
    },
  };
  if (settings.destination) return pino(options, settings.destination);
  if (!settings.pretty) return pino(options, pino.destination({ dest: 1, sync: false, ...BATCHES }));
  return pino({ ...options, formatters: {}, transport: { target: "pino-pretty" } });
}
