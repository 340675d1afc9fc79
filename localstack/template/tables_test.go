package template

import (
	"fmt"
	"maps"
	"slices"

	"inorder/ddb"
)

// tables are the definitions by which everything else creates its tables.
var tables = map[string]ddb.Table{"EntitiesTable": ddb.EntitiesTable, "ItemsTable": ddb.ItemsTable, "OutboxTable": ddb.OutboxTable}

// The tables are defined as in ddb: keys and their types, the TTL attribute, indexes and their projection, the stream.
func checkTables(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		for _, r := range s.Types("AWS::DynamoDB::Table") {
			want, ours := tables[r.ID]
			if !ours {
				f.add("%s: ddb knows no %s", name, r.ID)
				continue
			}
			stream := string(want.Stream)
			if asked := s.Parameters["EntitiesStream"]; r.ID == "EntitiesTable" && asked != "none" {
				stream = asked // for readers of the operator's own
			}
			is := func(property string, got, want any) { f.want(name+": "+property+" of "+r.ID, got, want) }
			is("the key", keyOf(r.Properties), key(want.Key))
			is("the stream", or(At(r.Properties, "StreamSpecification", "StreamViewType")), stream)
			is("the TTL attribute", or(At(r.Properties, "TimeToLiveSpecification", "AttributeName")), want.TTL)
			if want.TTL != "" {
				is("the TTL", At(r.Properties, "TimeToLiveSpecification", "Enabled"), true)
			}
			is("the indexes", indexesOf(r.Properties), indexes(want))
			is("the attributes", attributesOf(r.Properties), attributesIn(want))
		}
		for _, id := range []string{"EntitiesTable", "ItemsTable"} {
			if s.Resources[id] == nil {
				f.add("%s: there is no %s", name, id)
			}
		}
		if has := s.Resources["OutboxTable"] != nil; has != (s.Parameters["Outbox"] == "own") {
			f.add("%s: there is an OutboxTable: %v", name, has)
		}
	})
	return f
}

// No table is lost with the stack or with a change of it; all can be set back in time; nobody deletes one by mistake.
func checkKeeping(v *views) (wrong []string) {
	var f faults
	each(v.source, func(name string, s *Stack) {
		for _, r := range s.Types("AWS::DynamoDB::Table") {
			is := func(property string, got, want any) { f.want(name+": "+property+" of "+r.ID, got, want) }
			is("DeletionPolicy", r.DeletionPolicy, "Retain")
			is("UpdateReplacePolicy", r.UpdateReplacePolicy, "Retain")
			is("the billing", r.Properties["BillingMode"], "PAY_PER_REQUEST")
			is("point-in-time recovery", At(r.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"), true)
			is("deletion protection", r.Properties["DeletionProtectionEnabled"], s.Parameters["DeletionProtection"])
			sse := r.Properties["SSESpecification"]
			if key := s.Parameters["KmsKeyArn"]; key != "" {
				is("encryption", []any{At(sse, "SSEEnabled"), At(sse, "SSEType"), At(sse, "KMSMasterKeyId")}, []any{true, "KMS", key})
			} else if sse != nil {
				f.add("%s: %s has an encryption that needs a key: %v", name, r.ID, sse)
			}
		}
	})
	f.want("the default of DeletionProtection", At(map[string]any(v.source), "Parameters", "DeletionProtection", "Default"), "true")
	return f
}

func or(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func key(s ddb.Schema) string {
	if s.Sort.Name == "" {
		return s.Hash.Name + " HASH "
	}
	return s.Hash.Name + " HASH " + s.Sort.Name + " RANGE "
}

func keyOf(properties map[string]any) (key string) {
	for _, part := range list(properties["KeySchema"]) {
		key += fmt.Sprint(At(part, "AttributeName"), " ", At(part, "KeyType"), " ")
	}
	return key
}

func indexes(t ddb.Table) (all []string) {
	for _, index := range t.Indexes {
		all = append(all, fmt.Sprint(index.Name, ": ", key(index.Key), index.Projection))
	}
	return all
}

func indexesOf(properties map[string]any) (all []string) {
	for _, index := range list(properties["GlobalSecondaryIndexes"]) {
		index, _ := index.(map[string]any)
		all = append(all, fmt.Sprint(index["IndexName"], ": ", keyOf(index), At(index, "Projection", "ProjectionType")))
	}
	return append(all, toTexts(list(properties["LocalSecondaryIndexes"]))...)
}

func attributesIn(t ddb.Table) []string {
	all := map[string]string{}
	for _, index := range append([]ddb.Index{{Key: t.Key}}, t.Indexes...) {
		all[index.Key.Hash.Name] = string(index.Key.Hash.Type)
		all[index.Key.Sort.Name] = string(index.Key.Sort.Type)
	}
	delete(all, "")
	return pairs(all)
}

func attributesOf(properties map[string]any) []string {
	all := map[string]string{}
	for _, a := range list(properties["AttributeDefinitions"]) {
		all[text(At(a, "AttributeName"))] = text(At(a, "AttributeType"))
	}
	return pairs(all)
}

func pairs(m map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, name+" "+m[name])
	}
	return all
}

func toTexts(values []any) (all []string) {
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}
