import type { NextConfig } from "next";

/** Pages only: machine routes live in api/ and are answered before Next sees them. */
const config: NextConfig = {
  poweredByHeader: false,
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  compress: true,
  devIndicators: false,
  serverExternalPackages: ["@prisma/client", "@prisma/adapter-pg", "pg", "bullmq", "ioredis", "pino"],
  // Types are checked by `npm run check`, of the whole project at once; here they would only hold up the first start.
  typescript: { ignoreBuildErrors: true },
};

export default config;
