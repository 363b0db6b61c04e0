/** The machine configuration document that sets up an extension's service, and how it is applied. Pure. */
import { stringify } from "yaml";

/** What is known of a service out of its definition. */
export interface ConfigurableService {
  name: string;
  environment: readonly string[];
  mounts: readonly { source: string; destination: string }[];
}

const MOST_FILES = 5;
/** Mounts of these are the machine's own, not places for configuration. */
const MACHINE_PATHS = /^\/(?:dev|proc|sys|run|tmp|lib|usr|bin|sbin|system|opt)(?:\/|$)/;

/** Places where a configuration file makes sense: mounted from below /etc or /var, or named like a file. */
function fileMounts({ mounts }: ConfigurableService): string[] {
  const places = mounts
    .map(({ destination }) => destination)
    .filter((place) => !MACHINE_PATHS.test(place) || /\.[a-z0-9]{1,5}$/i.test(place));
  return [...new Set(places)].slice(0, MOST_FILES);
}

/**
 * An ExtensionServiceConfig document (Talos machine configuration, v1alpha1) with the environment that the definition sets
 * and one entry for each place a file may be mounted at, to be filled in.
 */
export function extensionServiceConfig(service: ConfigurableService): string {
  const { name, environment } = service;
  const files = fileMounts(service).map((mountPath) => ({
    content: "# the file as the service should see it\n",
    mountPath: /\.[a-z0-9]{1,5}$/i.test(mountPath)
      ? mountPath
      : `${mountPath.replace(/\/$/, "")}/config.yaml`,
  }));
  return stringify(
    {
      apiVersion: "v1alpha1",
      kind: "ExtensionServiceConfig",
      name,
      ...(files.length > 0 ? { configFiles: files } : {}),
      environment: environment.length > 0 ? environment : ["NAME=value"],
    },
    { lineWidth: 0 },
  );
}

/** The command that adds the document, saved as <name>.yaml, to a node. */
export const applyServiceConfig = (name: string): string =>
  `talosctl --nodes "$NODE" patch machineconfig --patch @${name}.yaml`;
