# One image for both services, the staff console and the migration; the command chooses which.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Files keep the modes that they have on the host. The image's user has to be able to read them.
RUN npm run build && npm prune --omit=dev && chmod -R a+rX package.json dist
# More than half of what packages bring is for editors, debuggers, bundlers and their own tests: Node loads none of it.
RUN find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' \
  -o -path '*/test/*' -o -path '*/testdata/*' -o -iname 'readme*.md' -o -iname 'changelog*.md' \
  -o -path '*/@opentelemetry/*/build/es*' \
  -o -path '*/csv-parse/dist/*' -o -path '*/node-pg-migrate/dist/legacy/*' \
  -o -path '*/temporal-polyfill/global*' -o -path '*/temporal-polyfill/f*/*' \) -delete
# What of the system the program needs: Node, the libraries that it loads, and the names of users.
RUN mkdir /system && cp --parents --dereference --target-directory=/system \
  /usr/local/bin/node $(ldd /usr/local/bin/node | grep --only-matching '/[^ ]*') /etc/passwd /etc/group

# Nothing else is there: no shell, no package manager, and no file that the program could write.
FROM scratch
COPY --from=build /system /
# The import of standard input keeps it there: /dev/shm is the one folder of every container that can be written.
ENV NODE_ENV=production PATH=/usr/local/bin TMPDIR=/dev/shm
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The user node, by number: Kubernetes then sees that it is not root.
USER 1000:1000
# The service is the container's first process: it takes this signal itself, and drains.
STOPSIGNAL SIGTERM
CMD ["node", "dist/services/slot-service/main.js"]
