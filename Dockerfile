# One image for server, watcher and worker; docker-compose.yml tells them apart by their command.
FROM node:20-bookworm
WORKDIR /opt/kdelta
# Worker and watcher need what scripts/setup.mjs lists: it is the one place that knows.
COPY . .
RUN node scripts/setup.mjs demo && rm -rf /var/lib/apt/lists/*
ENV KDELTA_STATE=/var/lib/kdelta XDG_CACHE_HOME=/var/cache
VOLUME ["/var/lib/kdelta", "/var/cache/kdelta"]
ENTRYPOINT ["node", "/opt/kdelta/dist/kdelta.mjs"]
