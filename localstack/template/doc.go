// Package template reads template.yaml as CloudFormation does, so that tests can compare it with the code, and so
// that a local deployment can refuse parameters that AWS would.
//
// Three views of it, each made of the one before:
//
//	Read        the file, with its short tags in their long form
//	Transform   what SAM makes of it, with the resources, roles and permissions that SAM adds
//	Deploy      what CloudFormation makes of either with given parameters: no condition, reference or function is left, and
//	            every name, ARN and URL is what it would be in account 123456789012
//
// The tests begin in checks_test.go: one function for each thing that is compared. TestRenamesAreFound makes a mistake for
// each in a copy. What needs SAM is skipped where INORDER_SAM names no virtual environment with it.
package template
