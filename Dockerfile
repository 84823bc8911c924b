# One image for both services, the staff console and the migration; the command chooses which.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# What is copied from the host keeps its modes, and may be closed to the user that runs it.
RUN npm run build && npm prune --omit=dev && chmod -R a+rX package.json dist

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
# The service is the container's first process: it takes this signal itself, and drains.
STOPSIGNAL SIGTERM
CMD ["node", "dist/services/slot-service/main.js"]
