import type { NextConfig } from "next";

/**
 * Pages only: machine routes live in api/ and are answered before Next sees them. Next reads this again at every start;
 * the container image, which has no compiler, carries it as next.config.mjs (see Dockerfile).
 */
const config: NextConfig = {
  poweredByHeader: false,
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  compress: true,
  devIndicators: false,
  // The address that npm run dev prints is a number; without this the pages come alive under "localhost" only.
  allowedDevOrigins: ["127.0.0.1"],
  serverExternalPackages: ["@prisma/client", "@prisma/adapter-pg", "pg", "bullmq", "ioredis", "pino"],
  // Types are checked by `npm run check`, of the whole project at once; here they would only hold up the first start.
  typescript: { ignoreBuildErrors: true },
};

export default config;
