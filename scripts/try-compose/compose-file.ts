/** docker-compose.yml as data, and the form of it that runs without container networks. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export interface ComposeService {
  image: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  [key: string]: unknown;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

/** Reads the file; anchors and merge keys are resolved, ${VARIABLES} are not. */
export function readComposeFile(path = "docker-compose.yml"): ComposeFile {
  const { services, volumes }: ComposeFile = parse(readFileSync(path, "utf8"), { merge: true });
  return { services, volumes };
}

/** Every service in the network of the machine itself; names of services lead to its loopback address. */
export function onHostNetwork(file: ComposeFile, webPort: number): ComposeFile {
  const hosts = Object.keys(file.services).map((name) => `${name}:127.0.0.1`);
  const services = Object.entries(file.services).map(([name, service]) => {
    const { build: _build, ports: _ports, ...rest } = service;
    const environment = { ...rest.environment, ...(name === "web" ? { PORT: String(webPort) } : {}) };
    return [name, { ...rest, environment, network_mode: "host", extra_hosts: hosts }];
  });
  return { ...file, services: Object.fromEntries(services) };
}
