import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type DescMethod, type DescMethodUnary, fromBinary, toJson } from '@bufbuild/protobuf';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { EchoConfig } from './bare-config.ts';
import { readBody } from './bare-http-body.ts';
import { serve } from './bare-serve.ts';

// The other baseline: one procedure that decodes each request, and encodes the same answer, without a database. Over
// gRPC with grpc-js, and with JSON over node:http.

const { path, answer }: EchoConfig = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));

const isUnary = (method: DescMethod): method is DescMethodUnary => method.methodKind === 'unary';
const method = [CouponService, SlotService, SlotStoreService]
  .flatMap(({ methods }) => methods.filter(isUnary))
  .find(({ parent, name }) => path === `/${parent.typeName}/${name}`);
if (method === undefined) throw new Error(`there is no procedure ${path}`);
const message = fromBinary(method.output, Buffer.from(answer, 'base64'));
const json = toJson(method.output, message);

const grpc = new Server();
serve(grpc, method, async () => message);

const http = createServer((request, response) => {
  readBody(request).then(
    (body) => {
      JSON.parse(body);
      const text = JSON.stringify(json);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    },
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});

grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, grpcPort) => {
  if (error) throw error;
  http.listen(0, '127.0.0.1', () => {
    const address = http.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    console.log(JSON.stringify({ msg: 'serving', grpcPort, webPort: address.port }));
  });
});
