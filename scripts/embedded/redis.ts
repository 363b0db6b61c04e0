/** Redis from the distribution: the command that runs it on 127.0.0.1 and the question whether it answers. */
import { mkdir } from "node:fs/promises";
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

/** noeviction: a queue must never lose a job because memory is short. */
export async function redisServer(place: RedisPlace): Promise<ServerCommand> {
  await mkdir(place.dataDir, { recursive: true });
  const persistence = place.persistent
    ? ["--appendonly", "yes", "--save", "300 1"]
    : ["--appendonly", "no", "--save", ""];
  return {
    name: "Redis",
    command: "redis-server",
    args: [
      ...["--bind", "127.0.0.1", "--port", String(place.port), "--dir", place.dataDir],
      ...[
        "--maxmemory-policy",
        "noeviction",
        "--databases",
        String(place.databases ?? 16),
        "--daemonize",
        "no",
      ],
      ...(place.password === undefined ? [] : ["--requirepass", place.password]),
      ...persistence,
    ],
    logFile: place.logFile,
  };
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
