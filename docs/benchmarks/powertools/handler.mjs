// The handler that the consumer is measured against, as the documentation of Powertools for AWS Lambda (TypeScript) puts batch
// processing and idempotency together: each record of a batch by itself, a record that was seen is not processed again, and
// what fails comes back. What it does with a record is one conditional write of the entity.
//
// It reads commands from standard input, a JSON object in each line, and answers each with a line:
// {"table", "keys", "batches", "metered"} → {"seconds", "units", "failed"}. `batches` is a file of SQS events.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';

const units = { sum: 0 };

// metered asks for consumed capacity and adds it up. Of what was refused nothing is told: an item of up to 1 KB, so one unit.
const metered = (client) => {
  client.middlewareStack.add((next) => async (args) => {
    args.input.ReturnConsumedCapacity = 'TOTAL';
    try {
      const answer = await next(args);
      units.sum += answer.output.ConsumedCapacity?.CapacityUnits ?? 0;
      return answer;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) units.sum += 1;
      throw error;
    }
  }, { step: 'initialize' });
  return client;
};

const connect = (isMetered) => {
  const client = new DynamoDBClient({
    endpoint: process.env.ENDPOINT, region: 'eu-west-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return isMetered ? metered(client) : client;
};

const writer = (client, TableName) => async (record) => {
  const event = JSON.parse(record.body);
  try {
    await client.send(new PutItemCommand({
      TableName,
      Item: {
        _pk: { S: event.entity_id }, seq: { N: String(event.seq) }, event_id: { S: event.event_id }, plan: { S: event.data.plan },
        currency: { S: event.data.currency }, seats: { N: String(event.data.seats) }, amount: { N: String(event.data.amount) },
      },
      ConditionExpression: 'attribute_not_exists(#seq) OR #seq < :seq',
      ExpressionAttributeNames: { '#seq': 'seq' },
      ExpressionAttributeValues: { ':seq': { N: String(event.seq) } },
    }));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error; // what is refused is old
  }
};

const makeHandler = ({ table, keys, metered: isMetered }) => {
  const client = connect(isMetered);
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: keys, keyAttr: '_pk', awsSdkV3Client: client });
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' });
  const processor = new BatchProcessor(EventType.SQS);
  const recordHandler = makeIdempotent(writer(client, table), { persistenceStore, config });
  return async (event, context) => {
    config.registerLambdaContext(context);
    return processPartialResponse(event, recordHandler, processor, { context });
  };
};

const context = { functionName: 'consumer', awsRequestId: 'local', getRemainingTimeInMillis: () => 30_000 };

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const batches = JSON.parse(readFileSync(command.batches, 'utf8'));
  const handler = makeHandler(command);
  let failed = 0;
  units.sum = 0;
  const start = process.hrtime.bigint();
  for (const batch of batches) failed += (await handler(batch, context)).batchItemFailures.length;
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.log(JSON.stringify({ seconds, units: units.sum, failed }));
}
