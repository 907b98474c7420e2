"""The suite `routing-quality`: how good is a router's choice between two models, on recorded outcomes of both?"""
