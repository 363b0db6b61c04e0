/** What can run an imager image, the one that needs least first. */
export const CONTAINER_RUNNERS = ["bubblewrap", "docker", "podman"] as const;
export type ContainerRunnerName = (typeof CONTAINER_RUNNERS)[number];
