# The factory as one image: web, worker and migrations are the same files with another command. docs/deploy.md says more.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Optional packages are the compiler of the pages and the embedded Postgres: not needed to run.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
# Database client, programs and pages; then what only this step or the embedded mode needs goes.
RUN node scripts/setup.mjs build \
 && node scripts/setup/container-packages.mjs > debian-packages.txt \
 && npx esbuild next.config.ts --format=esm --outfile=next.config.mjs --log-level=warning \
 && rm -rf .next/cache .next/dev .next/types dist/supervisor.mjs dist/supervisor.mjs.map \
 && mkdir -p public

FROM node:24-bookworm-slim
COPY --from=build /app/debian-packages.txt /usr/share/casthouse/debian-packages.txt
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive xargs -a /usr/share/casthouse/debian-packages.txt apt-get install -y -qq --no-install-recommends \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /data
WORKDIR /app
COPY package.json ./
COPY --from=build /app/next.config.mjs next.config.mjs
COPY --from=packages /app/node_modules node_modules
COPY prisma/migrations prisma/migrations
COPY --from=build /app/public public
COPY --from=build /app/.next .next
COPY --from=build /app/dist dist
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_OPTIONS=--max-semi-space-size=4 NEXT_TELEMETRY_DISABLED=1 PORT=3000 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 3000
# Of the web process; docker-compose.yml has another one for the rest.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tini hands signals on and buries the orphans of imaging tools, which no Node process does.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "dist/web.mjs"]
