import { create, createFileRegistry, fromBinary, getOption, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { field as fieldOption } from '../../../shared/gen/buf/validate/validate_pb.ts';
import {
  ExtensionRequestSchema,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '../../../shared/gen/grpc/reflection/v1/reflection_pb.ts';
import { run } from '../../support/processes.ts';
import { runService } from '../../support/running-service.ts';
import type { TestService } from '../../support/service.ts';

type Asked = ServerReflectionRequest['messageRequest'];

describe.each(['v1', 'v1alpha'])('Reflection %s', (version) => {
  const [slot, coupon] = [runService('slot'), runService('coupon')];

  /** The responses to requests on one stream. */
  async function ask({ grpcPort }: TestService, ...asked: Asked[]): Promise<ServerReflectionResponse[]> {
    const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure());
    const call = client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      (request: ServerReflectionRequest) => Buffer.from(toBinary(ServerReflectionRequestSchema, request)),
      (bytes) => fromBinary(ServerReflectionResponseSchema, bytes),
    );
    for (const messageRequest of asked)
      call.write(create(ServerReflectionRequestSchema, { host: 'here', messageRequest }));
    call.end();
    const responses: ServerReflectionResponse[] = [];
    for await (const response of call) responses.push(response);
    client.close();
    return responses;
  }

  const filesOf = ({ messageResponse }: ServerReflectionResponse) => {
    if (messageResponse.case !== 'fileDescriptorResponse') throw new Error(`it answered ${messageResponse.case}`);
    return messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  };
  const symbol = (value: string): Asked => ({ case: 'fileContainingSymbol', value });

  /** The types in the file of a symbol, as a client knows them. */
  async function registryOf(service: TestService, name: string) {
    const [response] = await ask(service, symbol(name));
    const files = response === undefined ? [] : filesOf(response);
    const sorted: typeof files = [];
    const add = (file: (typeof files)[number] | undefined) => {
      if (file === undefined || sorted.includes(file)) return;
      for (const imported of file.dependency) add(files.find((each) => each.name === imported));
      sorted.push(file);
    };
    files.forEach(add);
    return createFileRegistry(create(FileDescriptorSetSchema, { file: sorted }));
  }

  it('Reflection lists the services, with health and reflection itself', async () => {
    const list = async (service: TestService) => {
      const [response] = await ask(service, { case: 'listServices', value: '' });
      const answer = response?.messageResponse;
      return answer?.case === 'listServicesResponse' ? answer.value.service.map(({ name }) => name) : [];
    };
    const common = [
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ];
    expect(await list(slot)).toEqual([
      'slot.v1.SlotService',
      'slot.v1.SlotBookingService',
      'slot.v1.SlotStoreService',
      'slot.v1.SlotPlanService',
      'catalog.v1.CatalogService',
      'catalog.v1.ImportService',
      'audit.v1.AuditService',
      ...common,
    ]);
    expect(await list(coupon)).toEqual([
      'coupon.v1.CouponService',
      'coupon.v1.RedemptionService',
      'coupon.v1.CouponBatchService',
      'audit.v1.AuditService',
      ...common,
    ]);
  });

  it('Reflection describes every service that it lists, health among them', async () => {
    const health = (await registryOf(slot, 'grpc.health.v1.Health')).getService('grpc.health.v1.Health');
    expect(health?.methods.map(({ name }) => name)).toEqual(['Check', 'Watch', 'List']);
    expect(health?.method.list?.output.field.statuses?.fieldKind).toBe('map');
    for (const name of ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']) {
      expect((await registryOf(coupon, name)).getService(name)?.methods).toHaveLength(1);
    }
  });

  it('Reflection shows the bounds of the fields', async () => {
    const bounds = async (service: TestService, type: string, field: string) => {
      const found = (await registryOf(service, type)).getMessage(type)?.fields.find(({ name }) => name === field);
      if (found === undefined) throw new Error(`${type} has no ${field}`);
      return getOption(found, fieldOption);
    };
    const search = (await bounds(coupon, 'coupon.v1.GetUsersMiniInfoRequest', 'limit')).type;
    expect(search).toMatchObject({
      case: 'int32',
      value: { greaterThan: { case: 'gte', value: 1 }, lessThan: { value: 50 } },
    });
    expect((await bounds(slot, 'slot.v1.UpdateSlotProductsRequest', 'slot_id')).required).toBe(true);
  });

  it('Reflection knows the types of the error details', async () => {
    const registry = await registryOf(slot, 'google.rpc.ErrorInfo');
    expect(registry.getMessage('google.rpc.ErrorInfo')?.fields.map(({ name }) => name)).toContain('reason');
    expect(registry.getMessage('google.rpc.BadRequest')).toBeDefined();
  });

  it('Reflection finds files by name, members of types, and extensions', async () => {
    const validate = 'buf/validate/validate.proto';
    const options = 'google.protobuf.FieldOptions';
    const [byName, value, method, field, extension, numbers] = await ask(
      slot,
      { case: 'fileByFilename', value: validate },
      symbol('google.protobuf.NULL_VALUE'),
      symbol('slot.v1.SlotService.GetAll'),
      symbol('slot.v1.Slot.freeze_time'),
      {
        case: 'fileContainingExtension',
        value: create(ExtensionRequestSchema, { containingType: options, extensionNumber: 1159 }),
      },
      { case: 'allExtensionNumbersOfType', value: options },
    );
    if (!byName || !value || !method || !field || !extension || !numbers)
      throw new Error('it answered less than it was asked');
    expect(byName.validHost).toBe('here');
    expect(filesOf(byName)[0]?.name).toBe(validate);
    expect(filesOf(value)[0]?.name).toBe('google/protobuf/struct.proto');
    expect([method, field].map((answer) => filesOf(answer)[0]?.name)).toEqual(
      Array(2).fill('slot/v1/slot_service.proto'),
    );
    expect(filesOf(extension).map(({ name }) => name)).toEqual([validate]);
    expect(numbers.messageResponse).toMatchObject({ value: { baseTypeName: options, extensionNumber: [1159] } });
  });

  it('Reflection sends the dependencies of a file once per stream', async () => {
    const [first, second] = await ask(slot, symbol('slot.v1.SlotService'), symbol('slot.v1.SlotStoreService'));
    if (!first || !second) throw new Error('it answered less than it was asked');
    expect(filesOf(first).length).toBeGreaterThan(5);
    expect(filesOf(second).map(({ name }) => name)).toEqual(['slot/v1/slot_store_service.proto']);
  });

  it('Reflection answers NOT_FOUND for what it does not know, and goes on', async () => {
    const answers = await ask(
      coupon,
      symbol('slot.v1.SlotService'),
      { case: 'fileByFilename', value: '../secret' },
      { case: 'allExtensionNumbersOfType', value: 'nonsense' },
      { case: undefined },
      symbol('coupon.v1.CouponService'),
    );
    const codes = answers.map(({ messageResponse: { case: kind, value } }) =>
      kind === 'errorResponse' ? value.errorCode : kind,
    );
    expect(codes).toEqual([
      status.NOT_FOUND,
      status.NOT_FOUND,
      status.NOT_FOUND,
      status.INVALID_ARGUMENT,
      'fileDescriptorResponse',
    ]);
  });

  it('buf curl calls health with the schema from reflection', async () => {
    const command = `buf curl --http2-prior-knowledge --protocol grpc --reflect-protocol grpc-${version}`.split(' ');
    const curl = (...args: string[]) => run('npx', [...command, ...args]);
    const url = `http://127.0.0.1:${coupon.grpcPort}`;
    expect((await curl('--list-methods', url)).stdout).toContain('grpc.health.v1.Health/List');
    const listed = await curl('-d', '{}', `${url}/grpc.health.v1.Health/List`);
    expect(JSON.parse(listed.stdout).statuses).toMatchObject({ 'coupon.v1.CouponService': { status: 'SERVING' } });
  });
});
