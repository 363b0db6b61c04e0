/** Redis from the distribution: the command that runs it on 127.0.0.1 and the question whether it answers. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { ServerCommand } from "./server-process.ts";

export interface RedisPlace {
  dataDir: string;
  port: number;
  logFile: string;
  /** Kept on disk (append-only file, synced every second), or memory only. */
  persistent: boolean;
  /** Number of databases. */
  databases?: number;
  password?: string;
}

/** Writes the configuration file (the password must not show in the process list) and gives the command. */
export async function redisServer(place: RedisPlace): Promise<ServerCommand> {
  await mkdir(place.dataDir, { recursive: true });
  const lines = [
    "bind 127.0.0.1",
    `port ${place.port}`,
    `dir ${JSON.stringify(place.dataDir)}`,
    "daemonize no",
    // A queue must never lose a job because memory is short.
    "maxmemory-policy noeviction",
    `databases ${place.databases ?? 16}`,
    ...(place.persistent ? ["appendonly yes", "save 300 1"] : ["appendonly no", 'save ""']),
    ...(place.password === undefined ? [] : [`requirepass ${place.password}`]),
  ];
  const file = join(place.dataDir, "redis.conf");
  await writeFile(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  return { name: "Redis", command: "redis-server", args: [file], logFile: place.logFile };
}

/** True when the server answers PING and has loaded its data. */
export async function redisAnswers(url: string): Promise<boolean> {
  const client = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 2_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
