// forged.go declares a function without a body, which needs an assembly file in the package.
