/** Prints the Debian packages of the container image, one a line; the Dockerfile installs exactly these. */
import { containerPackages } from "./debian.mjs";

for (const name of containerPackages()) console.log(name);
